"""What the keyword lane must reach: nDCG@10, and for whole sessions the share found first."""

BARS = {
    "locomo-turn": 0.476,
    "locomo-win5": 0.684,
    "codebase": 0.727,
    "scifact": 0.685,
    "cmrc-zh": 0.95,
    "jsquad-ja": 0.90,
    "xquad-th": 0.95,
}
SESSIONS_HIT1 = 0.75
