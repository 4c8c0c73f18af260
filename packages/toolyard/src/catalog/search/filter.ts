import type { SearchFilter } from "../../core/ports/ports.ts";
import type { PreparedTool } from "../source-part.ts";

/**
 * Returns true if a tool passes the filter. A server matches by its id, by its namespace, and by the text before the
 * separator of a name, because names from an upstream hub start with the namespaces of that hub's servers.
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
