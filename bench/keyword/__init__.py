"""The keyword lane against other engines, on one corpus, one set of questions and one core."""
