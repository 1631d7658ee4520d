"""Mixed calls of many connections for minutes: what fails, and whether anything grows."""
