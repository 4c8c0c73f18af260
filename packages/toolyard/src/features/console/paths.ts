import type { RoutePlace } from "../../http/router.ts";

/** The page, below the server's base path. */
export const CONSOLE_PATH = "/console";
/** The API of the page. */
export const ADMIN_PATH = "/api/admin";

const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"];

/**
 * Every path of the console. They are open for the listener, because the console authenticates its callers itself: a
 * browser has a cookie instead of a header.
 */
export const CONSOLE_PLACES: readonly RoutePlace[] = [
  { methods: ["GET", "HEAD"], path: CONSOLE_PATH, isOpen: true },
  { methods: ["GET", "HEAD"], path: `${CONSOLE_PATH}/*`, isOpen: true },
  { methods: METHODS, path: ADMIN_PATH, isOpen: true },
  { methods: METHODS, path: `${ADMIN_PATH}/*`, isOpen: true },
];
