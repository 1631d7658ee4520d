"""One module for each tool whose history can be brought in."""
