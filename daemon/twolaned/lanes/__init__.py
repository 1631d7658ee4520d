"""Which rows match these terms, or this vector? Each lane knows its own index and no other's."""
