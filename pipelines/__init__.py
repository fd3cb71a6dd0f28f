"""How corpora flow: the only floor that imports Apache Beam, and only where it is used."""
