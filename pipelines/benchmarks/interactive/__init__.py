"""Interactive evaluation, DSTC9 Track 3: items for raters from logs of several systems, and ratings scored."""
