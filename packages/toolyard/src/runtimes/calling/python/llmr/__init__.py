"""Names that scripts of llmrouter import; see `toolyard`."""
