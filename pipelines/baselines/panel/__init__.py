"""The panel of baselines that says which test examples are hard: several kinds that differ in how they work, each judging for itself.

Five kinds judge turns (`turns`): what a user turn does to the belief state, its dialogue acts, its labels. `snippets` judges which turns seek
knowledge and which snippet answers them, `responses` which of many responses comes next. `choice` makes of all verdicts the hard set, and measures
whether it is hard for a kind that had no say in it. All arithmetic that a choice rests on is in whole numbers, or in a fixed order: equal inputs give
equal sets on every machine.
"""
