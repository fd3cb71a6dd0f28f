"""The small corpora that come with dialmill: `--input sample:NAME`."""
