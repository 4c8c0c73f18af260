/** Functions that create values inside the realm, called from outside. */
export interface Inner {
  syntaxError(message: string, stack: string): unknown;
  bytes(bytes: Uint8Array): unknown;
}

/** Runs inside the realm. Adds the functions that the embedded interpreter has and plain V8 lacks. */
function inside(
  now: () => number,
  toBase64: (text: string) => string | undefined,
  fromBase64: (text: string) => string | undefined,
): Inner {
  const BytesOfInside = Uint8Array;
  const ErrorOfInside = SyntaxError;
  const begun = now();
  const define = (name: string, value: unknown): void =>
    void Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  const converted = (answer: string | undefined): string => {
    if (answer === undefined) throw new TypeError("The string to be converted contains characters that cannot be.");
    return answer;
  };
  define("performance", Object.freeze({ now: () => now() - begun, timeOrigin: Date.now() }));
  define("btoa", (text: unknown) => converted(toBase64(String(text))));
  define("atob", (text: unknown) => converted(fromBase64(String(text))));
  return {
    syntaxError: (message, stack) => {
      const error = new ErrorOfInside(message);
      Object.defineProperty(error, "stack", { value: `SyntaxError: ${message}\n${stack}` });
      return error;
    },
    bytes: (bytes) => new BytesOfInside(bytes),
  };
}

export function surroundings(run: (source: string) => unknown): Inner {
  const make = run(`(${inside.toString()})`) as typeof inside;
  const orNothing =
    (convert: (text: string) => string) =>
    (text: string): string | undefined => {
      try {
        return convert(text);
      } catch {
        return undefined;
      }
    };
  return make(() => performance.now(), orNothing(btoa), orNothing(atob));
}
