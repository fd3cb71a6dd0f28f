"""DSTC9 Track 1: instances, knowledge files, and what the official checker asks of them."""
