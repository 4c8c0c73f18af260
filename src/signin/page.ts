import type { ServerResponse } from "node:http";
import type { Page } from "../core/sign-in-desk.ts";

/** A page for one look: no script, nothing from elsewhere, in no frame, kept nowhere. */
export function page(status: number, body: string): Page {
  return { status, headers: HEADERS, body: `<!doctype html><title>Toolyard</title>${body}` };
}

/** Sends the browser on. */
export function sendOn(location: string, cookie: string): Page {
  return { status: 303, headers: { ...HEADERS, location, "set-cookie": cookie }, body: "" };
}

export function write(response: ServerResponse, { status, headers, body }: Page): void {
  response.writeHead(status, { ...headers, connection: "close" }).end(body);
}

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

const HEADERS = Object.freeze({
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  // With none at all, browsers send no origin with the form either, by which it is known as the hub's own.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
});
