/**
 * A URI as the most generous reader would take it: percent escapes undone however deep they are nested, backslashes as
 * slashes, dot segments followed, scheme and host in lower case. Rights are held against it too, since the server
 * behind a URI that is not listed may well read it so. Also takes patterns, whose stars stay.
 */
export function plainUri(uri: string): string {
  const parts = /^([a-z][a-z0-9+.-]*:|\*:?)(\/\/[^/]*)?(.*)$/is.exec(unescaped(uri).replaceAll("\\", "/"));
  if (!parts) return uri;
  const scheme = parts[1]!.toLowerCase();
  const rest = parts[3]!;
  const authority = parts[2]?.toLowerCase();
  if (isFile(scheme) && (authority === "//localhost" || (authority === undefined && rest.startsWith("/"))))
    return `${scheme}//${followDots(rest)}`;
  return `${scheme}${authority ?? ""}${followDots(rest)}`;
}

const MAX_NESTED_ESCAPES = 8;

// Only ASCII matters: nothing else stands for a separator or a dot.
function unescaped(text: string): string {
  let plain = text;
  for (let round = 0; round < MAX_NESTED_ESCAPES && plain.includes("%"); round += 1) {
    const next = plain.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (next === plain) break;
    plain = next;
  }
  return plain;
}

function isFile(scheme: string): boolean {
  return scheme === "file:" || scheme.endsWith("+file:");
}

function followDots(path: string): string {
  if (!path.includes("/")) return path;
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return `${path.startsWith("/") ? "/" : ""}${steps.join("/")}${path.endsWith("/") && steps.length > 0 ? "/" : ""}`;
}
