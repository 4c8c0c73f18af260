import type { SearchFilter } from "../../core/ports/ports.ts";
import type { PreparedTool } from "../source-part.ts";

/**
 * Whether a tool is one of those that the search is about. A server answers to its id, to its namespace, and to what
 * stands before the separator of a name: a hub that is seen through another has all its servers there.
 */
export function passesFilter(
  { server, readOnly = false }: SearchFilter,
  separator: string,
): (tool: PreparedTool) => boolean {
  const wanted = server?.trim().toLowerCase() ?? "";
  const prefix = `${wanted}${separator}`;
  return ({ key, record, subject }) => {
    if (readOnly && !subject.isReadOnly) return false;
    const { id, namespace } = record.source;
    return (
      wanted === "" ||
      id.toLowerCase() === wanted ||
      namespace.toLowerCase() === wanted ||
      key.toLowerCase().startsWith(prefix)
    );
  };
}
