import type { ServerResponse } from "node:http";

/** A page for one look: no script, nothing from elsewhere, in no frame, kept nowhere. */
export function showPage(response: ServerResponse, status: number, body: string): void {
  response
    .writeHead(status, {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      connection: "close",
    })
    .end(`<!doctype html><title>Toolyard</title>${body}`);
}

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
