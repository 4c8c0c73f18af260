/** Content type of the text format (Prometheus exposition format 0.0.4). */
export const METRICS_CONTENT = "text/plain; version=0.0.4; charset=utf-8";

export type Labels = Readonly<Record<string, string>>;

/** Writes metrics in the text format of Prometheus. */
export class MetricsText {
  #text = "";

  /** Starts a metric; its samples follow. */
  family(name: string, type: "counter" | "gauge" | "histogram", help: string): this {
    this.#text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    return this;
  }

  sample(name: string, value: number, labels: Labels = {}): this {
    const text = labelText(labels);
    return this.line(text === "" ? name : `${name}{${text}}`, value);
  }

  /** Adds a sample of a series whose name and labels are already formatted. */
  line(series: string, value: number): this {
    this.#text += `${series} ${Number.isFinite(value) ? String(value) : value > 0 ? "+Inf" : "NaN"}\n`;
    return this;
  }

  /** Adds whole lines, each with its line break. */
  raw(lines: string): this {
    this.#text += lines;
    return this;
  }

  toString(): string {
    return this.#text;
  }
}

/** Returns labels as they are between braces. */
export function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(",");
}

const SPECIAL = /[\\"\n]/g;

function escapeLabel(value: string): string {
  return value.replaceAll(SPECIAL, (character) => (character === "\n" ? String.raw`\n` : `\\${character}`));
}
