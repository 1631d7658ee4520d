"""Local HTTP servers that speak the providers' APIs, and misbehave as they are told."""
