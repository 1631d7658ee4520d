"""Speed and quality yardsticks. Each is run as `python -m bench.NAME`; results go to bench/out."""
