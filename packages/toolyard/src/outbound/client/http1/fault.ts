/** Reasons why a request over an HTTP/1.1 connection fails; `../cause.ts` maps each code to a `RequestCause`. */
export type Http1FaultCode =
  | "TOOLYARD_CONNECT_TIMEOUT"
  | "TOOLYARD_SILENT"
  | "TOOLYARD_NOT_HTTP"
  | "TOOLYARD_CLOSED"
  | "TOOLYARD_CROWDED"
  | "TOOLYARD_BAD_REQUEST";

export class Http1Fault extends Error {
  readonly code: Http1FaultCode;

  constructor(code: Http1FaultCode, message: string) {
    super(message);
    this.name = "Http1Fault";
    this.code = code;
  }
}

/** Returns the fault for an answer that violates HTTP/1.1. Nothing after it on its connection can be trusted. */
export function notHttp(what: string): Http1Fault {
  return new Http1Fault("TOOLYARD_NOT_HTTP", `The answer is not HTTP/1.1: ${what}.`);
}
