"""Cross-lingual state tracking, DSTC9 Track 2: built by translation, and its submissions scored."""
