import * as fc from "fast-check";
import type { FileData, ModelData, SectionData, StatementData, ValueData } from "../src/language/data.ts";

const LETTERS = [..."ABCDEFGHsopuxyπγωσβéЖ字"];
const word = fc.string({ unit: fc.constantFrom(..."abcdefgzXYZ09_"), minLength: 0, maxLength: 6 });

/** Names from all supported alphabets and scripts. */
export const name = fc
  .tuple(
    fc.constantFrom(...LETTERS),
    word,
    fc.constantFrom("", "'", "_t", "_t+1", "_m0", "_f1", "_level2", "_agent1", "^x"),
  )
  .map((parts) => parts.join(""));

const comment = fc
  .string({ unit: fc.constantFrom(..."abc (){}[],=>-:#\"'π"), maxLength: 12 })
  .map((text) => `# ${text}`.trim());
const remark = fc.option(comment, { nil: undefined }).map((text) => (text === undefined ? {} : { comment: text }));

const number = fc.oneof(
  fc.integer({ min: -9, max: 99 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
);
const leaf: fc.Arbitrary<ValueData> = fc.oneof(
  { weight: 8, arbitrary: number },
  { weight: 1, arbitrary: fc.constantFrom<ValueData>({ number: "inf" }, { number: "-inf" }, { word: "uniform" }) },
  {
    weight: 1,
    arbitrary: fc.string({ maxLength: 8, unit: fc.constantFrom(...'ab #,({"\\') }).map((text) => ({ text })),
  },
);
const { value } = fc.letrec<{ value: ValueData }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: "value" },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(number, { maxLength: 40 }),
  ),
}));
const group = fc.array(value, { maxLength: 4 });

const dimension = fc.oneof(
  fc.integer({ min: 1, max: 64 }),
  name,
  name.map((of) => `len(${of})`),
);
const type = fc.constantFrom("float", "int", "bool", "string", "categorical", "double");
const optional = <T>(key: string, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<object> =>
  fc.option(arbitrary, { nil: undefined }).map((given) => (given === undefined ? {} : { [key]: given }));
const joined = <T extends object>(...parts: readonly fc.Arbitrary<object>[]): fc.Arbitrary<T> =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as T);

const variable = joined<StatementData>(
  fc.record({
    kind: fc.constant("variable"),
    name,
    dimensions: fc.array(dimension, { minLength: 1, maxLength: 4 }),
    options: fc.constant([]),
  }),
  optional("type", type),
  optional("default", fc.constantFrom("uniform", "zeros", "eye", "0.5")),
  remark,
);
const ends = fc.uniqueArray(name, { minLength: 1, maxLength: 3 });
const connection = joined<StatementData>(
  fc.record({ kind: fc.constant("connection"), sources: ends, targets: ends, directed: fc.boolean() }),
  optional("label", fc.constantFrom("precision", "a_1", "zwei Worte")),
  optional("constraint", fc.constantFrom("1", "fixed", "x<2")),
  remark,
);
const assignment = joined<StatementData>(
  fc.record({ kind: fc.constant("assignment"), name, value: fc.oneof(group, number) }),
  remark,
);
const equation = joined<StatementData>(
  fc.record({
    kind: fc.constant("equation"),
    text: fc.constantFrom("s = softmax(ln(D))", "Q(π)=σ(-G)", "x_{t+1} = F#x"),
  }),
  remark,
);
const time = joined<StatementData>(
  fc.constantFrom(
    { kind: "time", key: "Dynamic" },
    { kind: "time", key: "DiscreteTime", value: "t" },
    { kind: "time", key: "ModelTimeHorizon", value: "Unbounded" },
  ),
  remark,
);
const mapping = joined<StatementData>(
  fc.record({ kind: fc.constant("mapping"), name, term: fc.constantFrom("HiddenState", "Habit", "Anything") }),
  remark,
);
const parameter = joined<StatementData>(
  fc.record({
    kind: fc.constant("parameter"),
    key: name,
    value: fc.oneof(number, fc.array(number, { maxLength: 3 }), fc.constant<ValueData>({ word: "online mode" })),
  }),
  remark,
);
const plain = fc.oneof(
  comment.map((text): StatementData => ({ kind: "comment", text })),
  fc.constant<StatementData>({ kind: "comment", text: "### three" }),
);

function statements(name_: string, statement: fc.Arbitrary<StatementData>): fc.Arbitrary<SectionData> {
  return fc
    .array(fc.oneof({ weight: 4, arbitrary: statement }, { weight: 1, arbitrary: plain }), { maxLength: 6 })
    .map((list) => ({ name: name_, statements: list }));
}

const line = fc.string({ unit: fc.constantFrom(..."ab #-*`.,é"), maxLength: 20 }).map((text) => `x${text}`.trimEnd());
const text = (name_: string): fc.Arbitrary<SectionData> =>
  fc.array(line, { maxLength: 4 }).map((lines) => ({ name: name_, text: lines.join("\n") }));

const model: fc.Arbitrary<ModelData> = fc
  .tuple(
    fc.array(
      line.map((title) => `# ${title}`),
      { maxLength: 2 },
    ),
    fc.constant<SectionData>({ name: "GNNSection", text: "Some" }),
    fc.constant<SectionData>({ name: "GNNVersionAndFlags", text: "GNN v1.1" }),
    text("ModelName"),
    text("ModelAnnotation"),
    statements("StateSpaceBlock", variable),
    statements("Connections", connection),
    statements("InitialParameterization", assignment),
    statements("Equations", equation),
    statements("Time", time),
    statements("ActInfOntologyAnnotation", mapping),
    statements("ModelParameters", parameter),
    text("Footer"),
    text("AgentSettings"),
  )
  .map(([header, ...sections]) => ({ header, sections }));

/** Files of one or several models, as plain data. */
export const file: fc.Arbitrary<FileData> = fc
  .tuple(fc.array(model, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([models, hasFront]) => ({
    form: "markdown",
    ...(hasFront
      ? { frontMatter: { lines: ["author: somebody", "tags: [a, 2]"], values: { author: "somebody", tags: ["a", 2] } } }
      : {}),
    models,
  }));
