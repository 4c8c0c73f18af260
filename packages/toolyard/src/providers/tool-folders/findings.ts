import { nearest } from "../../core/text/suggest.ts";
import type { JsonObject } from "../../core/json/json.ts";

/** Findings in one manifest. A tool with a fault is not offered; a tool with only remarks is. */
export class Findings {
  readonly faults: string[] = [];
  readonly remarks: string[] = [];

  fault(message: string): void {
    this.faults.push(message);
  }

  remark(message: string): void {
    this.remarks.push(message);
  }

  /** Returns a list of texts. Any other value is a fault and counts as empty. */
  texts(value: unknown, key: string): readonly string[] {
    if (value === undefined) return [];
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value as string[];
    this.fault(`\`${key}\` must be a list of texts, such as \`${key} = ["one", "two"]\``);
    return [];
  }

  noteUnknownKeys(object: JsonObject, known: readonly string[], place = ""): void {
    for (const key of Object.keys(object)) {
      if (known.includes(key)) continue;
      const [near] = nearest(key, known, 1);
      const name = place === "" ? key : `${place}.${key}`;
      this.remark(`unknown key \`${name}\` was ignored${near === undefined ? "" : `; did you mean \`${near}\`?`}`);
    }
  }
}
