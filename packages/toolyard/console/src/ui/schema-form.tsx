import { t } from "../i18n/texts.ts";
import { Bounded } from "./bounded.tsx";
import { Hint, Name } from "./parts.tsx";

/** A JSON Schema whose keywords are read with checks. */
export type Schema = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 8;

export function toSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}

/** Returns the schema that a local `$ref` names, with the members next to it. */
export function resolve(schema: Schema, root: Schema): Schema {
  const { $ref, ...rest } = schema;
  if (typeof $ref !== "string" || !$ref.startsWith("#")) return schema;
  const steps = $ref
    .slice(1)
    .split("/")
    .filter(Boolean)
    .map((one) => one.replaceAll("~1", "/").replaceAll("~0", "~"));
  let found: unknown = root;
  for (const step of steps) found = toSchema(found)[decodeURIComponent(step)];
  return { ...toSchema(found), ...rest };
}

/** Returns the type that a field edits: the first that is not `null`. */
export function typeOf(schema: Schema): string {
  const { type } = schema;
  const named = Array.isArray(type) ? (type as readonly string[]).find((one) => one !== "null") : type;
  if (typeof named === "string") return named;
  if (schema["properties"] !== undefined || schema["additionalProperties"] !== undefined) return "object";
  if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return "array";
  return "any";
}

function branchesOf(schema: Schema): readonly Schema[] {
  const branches = schema["oneOf"] ?? schema["anyOf"];
  return Array.isArray(branches) ? branches.map(toSchema) : [];
}

/** Merges the schemas of `allOf` into one schema. Only simple members are merged. */
function joined(schema: Schema, root: Schema): Schema {
  const all = Array.isArray(schema["allOf"]) ? schema["allOf"].map((one) => resolve(toSchema(one), root)) : [];
  return all.reduce<Schema>(
    (whole, one) => ({
      ...one,
      ...whole,
      properties: { ...toSchema(one["properties"]), ...toSchema(whole["properties"]) },
      required: [...listOf(whole["required"]), ...listOf(one["required"])],
    }),
    schema,
  );
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}

/** Returns the first value of a schema: its default, its constant, or an empty value of a required type. */
export function startValue(given: Schema, root: Schema, depth = 0): unknown {
  const schema = joined(resolve(given, root), root);
  if ("default" in schema) return schema["default"];
  if ("const" in schema) return schema["const"];
  const branches = branchesOf(schema);
  if (branches.length > 0) return startValue(branches[0]!, root, depth + 1);
  if (typeOf(schema) !== "object" || depth > MAX_DEPTH) return undefined;
  const required = listOf(schema["required"]);
  const entries = Object.entries(toSchema(schema["properties"])).flatMap(([name, member]) => {
    const value = startValue(toSchema(member), root, depth + 1);
    const isNeeded = required.includes(name) || "default" in toSchema(member);
    return value !== undefined && isNeeded ? [[name, value]] : [];
  });
  return Object.fromEntries(entries) as object;
}

export interface FieldProps {
  readonly schema: Schema;
  readonly root: Schema;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly label: string;
  readonly isRequired?: boolean;
  readonly depth?: number;
}

/** Shows one field of a form. The hub validates the arguments; checks in the field only help the user. */
export function Field(props: FieldProps) {
  const { root, label, isRequired = false, depth = 0 } = props;
  const schema = joined(resolve(props.schema, root), root);
  const description = typeof schema["description"] === "string" ? schema["description"] : "";
  const title = typeof schema["title"] === "string" && schema["title"] !== label ? schema["title"] : "";
  const kind = typeOf(schema);
  const isGroup = kind === "object" || kind === "array" || branchesOf(schema).length > 0;
  const head = (
    <>
      <Name class="field-name" text={label} /> {isRequired && <span class="dim">{t("required")}</span>}{" "}
      <Name class="dim" text={title} />
    </>
  );
  const control = <Control {...props} schema={schema} depth={depth} />;
  const hint = description !== "" && <Hint text={description} />;
  if (isGroup && depth < MAX_DEPTH)
    return (
      <fieldset>
        <legend>{head}</legend>
        {hint}
        {control}
      </fieldset>
    );
  return (
    <label class="field">
      <span>{head}</span>
      {control}
      {hint}
    </label>
  );
}

function Control(props: FieldProps & { readonly depth: number }) {
  const { schema, depth } = props;
  const choices = "const" in schema ? [schema["const"]] : Array.isArray(schema["enum"]) ? schema["enum"] : undefined;
  if (choices) return <Choice {...props} choices={choices} />;
  if (depth >= MAX_DEPTH) return <JsonField {...props} />;
  if (branchesOf(schema).length > 0) return <Branches {...props} />;
  switch (typeOf(schema)) {
    case "object":
      return <ObjectFields {...props} />;
    case "array":
      return <Items {...props} />;
    case "boolean":
      return <Choice {...props} choices={[true, false]} />;
    case "integer":
    case "number":
      return <NumberField {...props} />;
    case "string":
      return <TextField {...props} />;
    default:
      return <JsonField {...props} />;
  }
}

function Choice({ value, onChange, choices, isRequired }: FieldProps & { readonly choices: readonly unknown[] }) {
  const isOther = value !== undefined && value !== null && !choices.some((one) => isSame(one, value));
  const all = isOther ? [...choices, value] : choices;
  const at = all.findIndex((one) => isSame(one, value));
  return (
    <select
      value={String(at)}
      required={isRequired === true}
      onChange={(event) => onChange(all[Number(event.currentTarget.value)])}
    >
      <option value="-1">{t("notSet")}</option>
      {all.map((choice, index) => (
        <option key={index} value={String(index)}>
          {typeof choice === "string" ? choice : JSON.stringify(choice)}
        </option>
      ))}
    </select>
  );
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function NumberField(props: FieldProps) {
  const { schema, value, onChange, isRequired } = props;
  // A text, such as a reference to a variable, is not shown by a field for numbers.
  if (typeof value === "string") return <TextField {...props} />;
  const isWhole = typeOf(schema) === "integer";
  const bound = (name: string): number | undefined => (typeof schema[name] === "number" ? schema[name] : undefined);
  return (
    <input
      type="number"
      step={isWhole ? 1 : "any"}
      {...(bound("minimum") !== undefined && { min: bound("minimum")! })}
      {...(bound("maximum") !== undefined && { max: bound("maximum")! })}
      required={isRequired === true}
      value={typeof value === "number" ? String(value) : ""}
      onInput={(event) => {
        const text = event.currentTarget.value;
        onChange(text === "" ? undefined : Number(text));
      }}
    />
  );
}

const INPUT_TYPES: Readonly<Record<string, "date" | "time" | "email" | "url" | "password">> = {
  date: "date",
  time: "time",
  email: "email",
  uri: "url",
  password: "password",
};
/** Maximum size of a file that can be used as an argument. */
const MAX_FILE_BYTES = 5_000_000;

function TextField(props: FieldProps) {
  const { schema, value, onChange, isRequired } = props;
  if (typeof value === "object" && value !== null) return <JsonField {...props} />;
  const text = typeof value === "string" ? value : "";
  const set = (next: string): void => onChange(next === "" && !isRequired ? undefined : next);
  const encoding = schema["contentEncoding"];
  const type = INPUT_TYPES[String(schema["format"])];
  const examples = Array.isArray(schema["examples"]) ? schema["examples"].map(String) : [];
  if (type !== undefined) {
    const shared = {
      value: text,
      onInput: (event: { readonly currentTarget: HTMLInputElement }) => set(event.currentTarget.value),
    };
    if (type === "date") return <input type="date" {...shared} />;
    if (type === "time") return <input type="time" {...shared} />;
    if (type === "email") return <input type="email" {...shared} />;
    return type === "url" ? <input type="url" {...shared} /> : <input type="password" {...shared} />;
  }
  return (
    <>
      <textarea
        rows={Math.min(12, Math.max(1, text.split("\n").length))}
        value={text}
        {...(examples[0] !== undefined && { placeholder: examples[0] })}
        onInput={(event) => set(event.currentTarget.value)}
      />
      {encoding === "base64" && <FileField onText={set} />}
    </>
  );
}

function FileField({ onText }: { readonly onText: (text: string) => void }) {
  const read = async (file: File | undefined): Promise<void> => {
    if (!file || file.size > MAX_FILE_BYTES) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    let text = "";
    for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    onText(btoa(text));
  };
  return <input type="file" onChange={(event) => void read(event.currentTarget.files?.[0])} />;
}

function JsonField({ value, onChange }: FieldProps) {
  return (
    <textarea
      rows={3}
      class="code"
      dir="ltr"
      value={value === undefined ? "" : JSON.stringify(value, null, 2)}
      onChange={(event) => {
        const field = event.currentTarget;
        try {
          onChange(field.value.trim() === "" ? undefined : (JSON.parse(field.value) as unknown));
          field.setCustomValidity("");
        } catch {
          field.setCustomValidity(t("invalidJson"));
          field.reportValidity();
        }
      }}
    />
  );
}

function Branches({ schema, root, value, onChange, label, depth }: FieldProps & { readonly depth: number }) {
  const branches = branchesOf(schema).map((branch) => resolve(branch, root));
  const fitting = branches.findIndex((branch) => fits(branch, value));
  const at = Math.max(0, fitting);
  const nameOf = (branch: Schema, index: number): string =>
    String(branch["title"] ?? branch["const"] ?? `${index + 1}: ${typeOf(branch)}`);
  return (
    <>
      <select
        aria-label={label}
        value={String(at)}
        onChange={(event) => onChange(startValue(branches[Number(event.currentTarget.value)]!, root) ?? undefined)}
      >
        {branches.map((branch, index) => (
          <option key={index} value={String(index)}>
            {nameOf(branch, index)}
          </option>
        ))}
      </select>
      <label class="field">
        <span class="hidden">{label}</span>
        <Control schema={branches[at]!} root={root} value={value} onChange={onChange} label={label} depth={depth + 1} />
      </label>
    </>
  );
}

/** Returns whether a value can belong to a branch: by type, constants and required members. */
function fits(branch: Schema, value: unknown): boolean {
  if ("const" in branch) return JSON.stringify(branch["const"]) === JSON.stringify(value);
  const kind = typeOf(branch);
  if (kind === "object") {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const members = Object.entries(toSchema(branch["properties"]));
    return members.every(([name, member]) => {
      const wanted = toSchema(member);
      return !("const" in wanted) || (value as Schema)[name] === wanted["const"];
    });
  }
  if (kind === "array") return Array.isArray(value);
  if (kind === "integer" || kind === "number") return typeof value === "number";
  return kind === "any" || typeof value === kind;
}

function ObjectFields({ schema, root, value, onChange, depth }: FieldProps & { readonly depth: number }) {
  const held = toSchema(value);
  const members = toSchema(schema["properties"]);
  const required = listOf(schema["required"]);
  const further = Object.keys(held).filter((name) => !Object.hasOwn(members, name));
  const values = schema["additionalProperties"];
  const set = (name: string, next: unknown): void => {
    const { [name]: _old, ...rest } = held;
    onChange(next === undefined ? rest : { ...rest, [name]: next });
  };
  return (
    <div class="fields">
      <Bounded>
        {Object.entries(members).map(([name, member]) => (
          <Field
            key={name}
            label={name}
            schema={toSchema(member)}
            root={root}
            value={held[name]}
            onChange={(next) => set(name, next)}
            isRequired={required.includes(name)}
            depth={depth + 1}
          />
        ))}
      </Bounded>
      <Bounded>
        {further.map((name) => (
          <div key={name} class="item">
            <Field
              label={name}
              schema={toSchema(values)}
              root={root}
              value={held[name]}
              onChange={(next) => set(name, next ?? null)}
              depth={depth + 1}
            />
            <button type="button" onClick={() => set(name, undefined)}>
              {t("removeItem")}
            </button>
          </div>
        ))}
      </Bounded>
      {typeof values === "object" && values !== null && (
        <NewMember onAdd={(name) => set(name, firstValue(toSchema(values), root))} />
      )}
    </div>
  );
}

const EMPTY: Readonly<Record<string, unknown>> = { string: "", object: {}, array: [], boolean: false };

/** Returns the value of a new member: the start value of its schema, or an empty value of its type. */
function firstValue(schema: Schema, root: Schema): unknown {
  return startValue(schema, root) ?? EMPTY[typeOf(joined(resolve(schema, root), root))] ?? null;
}

function NewMember({ onAdd }: { readonly onAdd: (name: string) => void }) {
  return (
    <label class="field">
      <span>{t("addMember")}</span>
      <input
        onChange={(event) => {
          const name = event.currentTarget.value.trim();
          event.currentTarget.value = "";
          if (name !== "") onAdd(name);
        }}
      />
    </label>
  );
}

function Items({ schema, root, value, onChange, label, depth }: FieldProps & { readonly depth: number }) {
  const held: readonly unknown[] = Array.isArray(value) ? value : [];
  const prefix = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"].map(toSchema) : [];
  const schemaAt = (index: number): Schema => prefix[index] ?? toSchema(schema["items"]);
  return (
    <div class="fields">
      {held.map((item, index) => (
        <div key={index} class="item">
          <Field
            label={`${label} ${index + 1}`}
            schema={schemaAt(index)}
            root={root}
            value={item}
            onChange={(next) => onChange(held.map((one, at) => (at === index ? (next ?? null) : one)))}
            depth={depth + 1}
          />
          <button type="button" onClick={() => onChange(held.filter((_one, at) => at !== index))}>
            {t("removeItem")}
          </button>
        </div>
      ))}
      <button type="button" onClick={() => onChange([...held, startValue(schemaAt(held.length), root) ?? null])}>
        {t("addItem")}
      </button>
    </div>
  );
}
