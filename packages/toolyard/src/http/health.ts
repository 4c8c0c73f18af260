/** Paths at which all clients may check if the server accepts requests, with or without a token. */
export const HEALTH_PATHS: readonly string[] = ["/health", "/healthz"];
