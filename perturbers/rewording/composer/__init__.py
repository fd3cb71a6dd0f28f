"""The composer: words a user turn anew from what it means (acts, slots, values, the system turn before), out of clauses written for it."""
