import { useEffect, useId, useState } from "preact/hooks";
import { call } from "../api.ts";
import { Hint, Name } from "./parts.tsx";

const WAIT_MS = 150;

export interface CompletedFieldProps {
  readonly name: string;
  readonly hint?: string | undefined;
  readonly isRequired: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Prompt or template to which the argument belongs, as in MCP. */
  readonly reference: Readonly<Record<string, string>>;
  /** Values of the other arguments. */
  readonly others: Readonly<Record<string, string>>;
}

/** Shows a text field with the completions of the server. A server without completions has none. */
export function CompletedField(props: CompletedFieldProps) {
  const { name, hint, isRequired, value, onChange, reference, others } = props;
  const [values, setValues] = useState<readonly string[]>([]);
  const [isActive, setActive] = useState(false);
  const id = useId();
  useEffect(() => {
    if (!isActive) return undefined;
    const aborter = new AbortController();
    const timer = setTimeout(() => {
      const body = { ref: reference, argument: { name, value }, context: { arguments: others } };
      call<CompletionAnswer>("POST", "complete", { body, signal: aborter.signal }).then(
        ({ result }) => setValues((result?.completion?.values ?? []).map(String)),
        () => setValues([]),
      );
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      aborter.abort();
    };
  }, [value, isActive, JSON.stringify(others)]);
  return (
    <label class="field">
      <span>
        <Name class="field-name" text={name} />
        {hint !== undefined && <Hint text={hint} />}
      </span>
      <input
        value={value}
        required={isRequired}
        list={id}
        autocomplete="off"
        onFocus={() => setActive(true)}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <datalist id={id}>
        {values.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </label>
  );
}

interface CompletionAnswer {
  readonly result?: { readonly completion?: { readonly values?: readonly unknown[] } };
}
