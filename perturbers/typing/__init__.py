"""Typing noise, English and Chinese, typography, and foreign augmenters under the label guard."""
