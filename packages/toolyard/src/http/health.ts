/** Where everybody may ask whether the server takes requests, token or not. */
export const HEALTH_PATHS: readonly string[] = ["/health", "/healthz"];
