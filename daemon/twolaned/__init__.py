"""The twolane daemon: one warm index of a person's work with AI, served over gRPC."""
