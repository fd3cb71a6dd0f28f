"""One module per corpus release: files -> Dialogue."""
