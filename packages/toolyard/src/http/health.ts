/** Paths at which every client may check whether the server accepts requests, with or without a token. */
export const HEALTH_PATHS: readonly string[] = ["/health", "/healthz"];
