import type {
  Assignment,
  Connection,
  Equation,
  Mapping,
  Model,
  Parameter,
  Raw,
  TextSection,
  TimeEntry,
  Variable,
} from "./model.ts";
import { LIMITS } from "./limits.ts";

/** The content of a model by kind, independent of the order of its sections. */
export interface ModelView {
  readonly model: Model;
  readonly identifier?: string;
  readonly version?: string;
  readonly name?: string;
  readonly annotation?: string;
  readonly variables: readonly Variable[];
  readonly connections: readonly Connection[];
  readonly values: readonly Assignment[];
  readonly equations: readonly Equation[];
  readonly time: readonly TimeEntry[];
  readonly mappings: readonly Mapping[];
  readonly parameters: readonly Parameter[];
  /** Lines that could not be read. */
  readonly unread: readonly Raw[];
}

export function viewOf(model: Model): ModelView {
  const line = (section: string): string | undefined => firstLine(textOf(model, section));
  return {
    model,
    ...given("identifier", line("GNNSection")),
    ...given("version", line("GNNVersionAndFlags")),
    ...given("name", line("ModelName")),
    ...given("annotation", textOf(model, "ModelAnnotation") || undefined),
    ...statementsOf(model),
  };
}

type Statements = Pick<
  ModelView,
  "variables" | "connections" | "values" | "equations" | "time" | "mappings" | "parameters" | "unread"
>;

/** Groups the statements by kind in one pass, because there may be a hundred thousand. */
function statementsOf({ sections }: Model): Statements {
  const lists = {
    variables: [] as Variable[],
    connections: [] as Connection[],
    values: [] as Assignment[],
    equations: [] as Equation[],
    time: [] as TimeEntry[],
    mappings: [] as Mapping[],
    parameters: [] as Parameter[],
    unread: [] as Raw[],
  };
  for (const section of sections) {
    if (section.kind !== "statements") continue;
    for (const statement of section.statements) {
      if (statement.kind === "connection") lists.connections.push(statement);
      else if (statement.kind === "variable") lists.variables.push(statement);
      else if (statement.kind === "assignment") lists.values.push(statement);
      else if (statement.kind === "equation") lists.equations.push(statement);
      else if (statement.kind === "time") lists.time.push(statement);
      else if (statement.kind === "mapping") lists.mappings.push(statement);
      else if (statement.kind === "parameter") lists.parameters.push(statement);
      else if (statement.kind === "raw") lists.unread.push(statement);
    }
  }
  return lists;
}

function given<K extends string>(key: K, value: string | undefined): { readonly [P in K]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: string });
}

/** Returns the text of a section. Sections of the same name are joined. */
export function textOf(model: Model, name: string): string | undefined {
  const texts = textSections(model, name);
  return texts.length === 0 ? undefined : texts.map(({ text }) => text).join("\n");
}

export function textSections(model: Model, name: string): readonly TextSection[] {
  return model.sections.filter((section): section is TextSection => section.kind === "text" && section.name === name);
}

function firstLine(text: string | undefined): string | undefined {
  return text
    ?.split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "" && !line.startsWith("#"));
}

/** A single edge. Groups are expanded: every source is connected with every target. */
export interface Edge {
  readonly source: string;
  readonly target: string;
  readonly directed: boolean;
  readonly label?: string;
  readonly constraint?: string;
  readonly comment?: string;
  readonly connection: Connection;
}

/** Returns the edges of a model in order. `isWhole` is false if `LIMITS.edges` truncated the list. */
export function edgesOf({ connections }: ModelView): { readonly edges: readonly Edge[]; readonly isWhole: boolean } {
  const edges: Edge[] = [];
  for (const connection of connections) {
    const { directed, label, constraint, comment } = connection;
    const rest = {
      directed,
      ...(label === undefined ? {} : { label }),
      ...(constraint === undefined ? {} : { constraint }),
      ...(comment === undefined ? {} : { comment }),
      connection,
    };
    for (const { text: source } of connection.sources)
      for (const { text: target } of connection.targets) {
        if (edges.length >= LIMITS.edges) return { edges, isWhole: false };
        edges.push({ source, target, ...rest });
      }
  }
  return { edges, isWhole: true };
}

/** Content of the Time section. Later lines override earlier ones. */
export interface TimeView {
  readonly kind?: "Static" | "Dynamic";
  readonly domain?: "Discrete" | "Continuous";
  readonly variable?: string;
  /** Number of steps, `Unbounded`, or the name of a parameter. */
  readonly horizon?: string;
}

export function timeOf({ time }: ModelView): TimeView {
  const view: { -readonly [K in keyof TimeView]: TimeView[K] } = {};
  for (const { key, value } of time) {
    if (key === "Static" || key === "Dynamic") view.kind = key;
    else if (key === "Discrete" || key === "Continuous") view.domain = key;
    else if (value && key === "ModelTimeHorizon") view.horizon = value.text;
    else if (value && /^(?:Discrete|Continuous)?Time$/.test(key)) {
      view.variable = value.text;
      if (key === "DiscreteTime") view.domain = "Discrete";
      if (key === "ContinuousTime") view.domain = "Continuous";
    }
  }
  return view;
}
