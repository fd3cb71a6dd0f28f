VERSION = "0.1.0"
#: The version of the canonical record. 2 brought turns that are carried through (speaker "other", `role`, `payload`); records of version 1 are read.
RECORD = 2
