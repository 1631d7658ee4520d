"""How well the lanes find what people judged relevant."""
