"""One module per stage: plain classes whose `process` is a pure function of its input, run on Beam or in a loop."""
