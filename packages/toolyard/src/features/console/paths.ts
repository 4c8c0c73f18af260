import type { RoutePlace } from "../../http/router.ts";

/** The page, below the server's base path. */
export const CONSOLE_PATH = "/console";
/** The API of the page. */
export const ADMIN_PATH = "/api/admin";

const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"];

/**
 * Every path of the console. The listener requires no credentials for them, because the console authenticates its
 * callers itself: a browser sends a cookie instead of an `Authorization` header.
 */
export const CONSOLE_PLACES: readonly RoutePlace[] = [
  { methods: ["GET", "HEAD"], path: CONSOLE_PATH, isOpen: true },
  { methods: ["GET", "HEAD"], path: `${CONSOLE_PATH}/*`, isOpen: true },
  { methods: METHODS, path: ADMIN_PATH, isOpen: true },
  { methods: METHODS, path: `${ADMIN_PATH}/*`, isOpen: true },
];
