"""DSTC9 Track 2: cross-lingual state tracking, built from MultiWOZ and CrossWOZ by translation."""
