import { useEffect, useRef, useState } from "preact/hooks";
import type { SettingsInfo } from "../../../../src/features/console/settings/settings-types.ts";
import { t } from "../../i18n/texts.ts";
import { SearchField } from "../../ui/parts.tsx";
import { Field, toSchema, type Schema } from "../../ui/schema-form.tsx";
import { matchesWords, withoutNulls } from "./schema.ts";

/** Time without a change after which the value of a field is written to the text. */
const WRITE_AFTER_MS = 300;

export interface SettingsFormProps {
  readonly schema: Schema;
  readonly tree: Schema;
  readonly overrides: SettingsInfo["overrides"];
  readonly isReadOnly: boolean;
  readonly onValue: (path: readonly string[], value: unknown) => void;
}

/** Shows a form for all options, by section. Sections with values come first. */
export function SettingsForm(props: SettingsFormProps) {
  const { schema, tree } = props;
  const [words, setWords] = useState("");
  const sections = Object.entries(toSchema(schema["properties"]))
    .map(([name, section]) => ({ name, section: toSchema(section) }))
    .filter(({ name, section }) => matchesWords(name, section, words))
    .toSorted((one, other) => Number(other.name in tree) - Number(one.name in tree));
  return (
    <form class="settings-form" aria-label={t("form")} onSubmit={(event) => event.preventDefault()}>
      <SearchField class="search-field" label={t("searchOptions")} words={words} onWords={setWords} />
      {sections.map(({ name, section }) => (
        <Section key={name} name={name} section={section} {...props} />
      ))}
    </form>
  );
}

function Section(props: SettingsFormProps & { readonly name: string; readonly section: Schema }) {
  const { name, section, tree, overrides } = props;
  const [isOpen, setOpen] = useState(false);
  const own = overrides.filter(({ path }) => path === name || path.startsWith(`${name}.`));
  const description = String(section["description"] ?? "");
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code>[{name}]</code> {name in tree && <span class="state ready">{t("isSet")}</span>}{" "}
        <small class="dim">{description}</small>
      </summary>
      {own.map(({ path, origin }) => (
        <p key={path} class="notice">
          {t("overridden", { path, origin })}
        </p>
      ))}
      {isOpen && <Options {...props} />}
    </details>
  );
}

function Options({
  name,
  section,
  schema,
  tree,
  isReadOnly,
  onValue,
}: SettingsFormProps & { readonly name: string; readonly section: Schema }) {
  const options = Object.entries(toSchema(section["properties"]));
  const shared = { root: schema, isReadOnly, onValue };
  if (options.length === 0)
    return <Option {...shared} path={[name]} label={name} schema={section} value={tree[name]} />;
  const held = toSchema(tree[name]);
  return (
    <>
      {options.map(([option, inner]) => (
        <Option
          {...shared}
          key={option}
          path={[name, option]}
          label={option}
          schema={toSchema(inner)}
          value={held[option]}
        />
      ))}
    </>
  );
}

interface OptionProps {
  readonly path: readonly string[];
  readonly label: string;
  readonly schema: Schema;
  readonly root: Schema;
  readonly value: unknown;
  readonly isReadOnly: boolean;
  readonly onValue: (path: readonly string[], value: unknown) => void;
}

/** Shows one option. Its value is shown as typed, and written to the text after a pause. */
function Option({ path, label, schema, root, value, isReadOnly, onValue }: OptionProps) {
  const [typed, setTyped] = useState<{ readonly value: unknown }>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const text = JSON.stringify(value);
  // The typed value is dropped, because the text contains it now or was changed in the editor.
  useEffect(() => setTyped(undefined), [text]);
  const onChange = (next: unknown): void => {
    setTyped({ value: next });
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onValue(path, withoutNulls(next)), WRITE_AFTER_MS);
  };
  return (
    <fieldset class="option" disabled={isReadOnly}>
      <legend class="hidden">{label}</legend>
      <Field label={label} schema={schema} root={root} value={typed ? typed.value : value} onChange={onChange} />
    </fieldset>
  );
}
