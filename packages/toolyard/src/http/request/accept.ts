import { LastRead } from "../../core/timing/last-read.ts";

/** Media types that a client accepts for an MCP answer. */
export interface AcceptedTypes {
  readonly json: boolean;
  readonly stream: boolean;
}

const BOTH: AcceptedTypes = Object.freeze({ json: true, stream: true });

/** Parser of `Accept` headers with a cache, because clients send the same header each time. */
const READ = new LastRead(readAccept);

/**
 * Returns which of the two types an `Accept` header permits (RFC 9110, section 12.5.1). Without the header, both are
 * permitted.
 */
export function acceptedTypes(accept: string | undefined): AcceptedTypes {
  return accept === undefined || accept.trim() === "" ? BOTH : READ.of(accept);
}

function readAccept(accept: string): AcceptedTypes {
  const weights = new Map<string, boolean>();
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";");
    const isRefused = parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0{0,3})?\s*$/i.test(parameter));
    weights.set(type.trim().toLowerCase(), !isRefused);
  }
  const accepts = (type: string, group: string): boolean =>
    weights.get(type) ?? weights.get(group) ?? weights.get("*/*") ?? weights.get("*") ?? false;
  return Object.freeze({
    json: accepts("application/json", "application/*"),
    stream: accepts("text/event-stream", "text/*"),
  });
}
