"""Cross-lingual state tracking, DSTC9 Track 2: scored, not built."""
