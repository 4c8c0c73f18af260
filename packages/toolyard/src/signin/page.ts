import type { ServerResponse } from "node:http";
import type { SignInPage } from "../core/ports/sign-in-coordinator.ts";

export function write(response: ServerResponse, { status, headers, body }: SignInPage): void {
  response.writeHead(status, { ...headers, connection: "close" }).end(body);
}

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
