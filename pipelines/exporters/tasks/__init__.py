"""The tasks that evaluation harnesses load: what they ask, and how an answer is scored. Its files are written into exports, whole or in part."""
