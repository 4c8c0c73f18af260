import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type {
  SettingsCheck,
  SettingsConflict,
  SettingsFile,
  SettingsSaved,
} from "../../../../src/features/console/settings/settings-types.ts";
import { ApiError, call } from "../../api.ts";

/** Time without a change after which a text is checked. */
const CHECK_AFTER_MS = 350;

export interface EditedSettings {
  readonly text: string;
  readonly check: SettingsCheck | undefined;
  readonly isBusy: boolean;
  readonly message: { readonly text: string; readonly isBad: boolean } | undefined;
  readonly conflict: SettingsConflict | undefined;
  /** Number of times that the text was replaced, other than by typing in the editor. */
  readonly revision: number;
  /** Replaces the text. */
  readonly setText: (text: string) => void;
  /** Stores the text that the user typed in the editor. */
  readonly setTyped: (text: string) => void;
  /** Changes one value in the text. The hub keeps comments and layout. */
  readonly setValue: (path: readonly string[], value: unknown) => void;
  readonly save: () => Promise<void>;
  readonly undo: () => Promise<void>;
  /**
   * Ends a conflict with a change of the file on disk: keeps the draft as a change of the new file, or discards the
   * draft.
   */
  readonly solveConflict: (keepsOwn: boolean) => void;
}

interface DraftState {
  readonly text: string;
  readonly revision: number;
  readonly digest: string;
  readonly message?: EditedSettings["message"];
  readonly conflict?: SettingsConflict;
  readonly isBusy: boolean;
}

/** Returns the edited text of a file, with the checks of the hub. */
export function useDraft(file: SettingsFile, onSaved: () => Promise<SettingsFile | undefined>): EditedSettings {
  const [state, setState] = useState<DraftState>(startOf(file));
  const change = (more: Partial<DraftState>): void => setState((old) => ({ ...old, ...more }));
  const replace = (text: string, more: Partial<DraftState> = {}): void =>
    setState(({ message: _message, ...old }) => ({ ...old, text, revision: old.revision + 1, ...more }));
  const check = useCheck(file, state.text);
  const current = useRef(state);
  current.current = state;
  const edits = useRef<Promise<void>>(Promise.resolve());
  const setValue = (path: readonly string[], value: unknown): void => {
    edits.current = edits.current.then(async () => {
      try {
        const text = await editedText(() => current.current.text, { file: file.path, path, value });
        current.current = { ...current.current, text };
        replace(text);
      } catch (error) {
        change({ message: { text: messageOf(error), isBad: true } });
      }
    });
  };
  const send = async (method: "PUT" | "POST", path: string, body: object): Promise<void> => {
    change({ isBusy: true, message: undefined });
    try {
      const { message: text, digest } = await call<SettingsSaved>(method, path, { body: { file: file.path, ...body } });
      const saved = await onSaved();
      const message = { text, isBad: false };
      // The text of the saved file is shown, because placeholders for secrets are valid only in the version that
      // contains them.
      if (saved?.text !== undefined) replace(saved.text, { digest, message });
      else change({ digest, message });
    } catch (error) {
      const { conflict } = (error instanceof ApiError ? error.body : {}) as { conflict?: SettingsConflict };
      change({ message: { text: messageOf(error), isBad: true }, ...(conflict && { conflict }) });
    } finally {
      change({ isBusy: false });
    }
  };
  return {
    ...state,
    check,
    message: state.message,
    conflict: state.conflict,
    setText: (text) => replace(text),
    setTyped: (text) => change({ text, message: undefined }),
    setValue,
    save: () => send("PUT", "settings", { text: state.text, digest: state.digest }),
    undo: () => send("POST", "settings/undo", { digest: state.digest }),
    solveConflict: (keepsOwn) => {
      const { text = "", digest = "" } = state.conflict ?? {};
      setState((old) => ({
        isBusy: false,
        digest,
        text: keepsOwn ? old.text : text,
        revision: old.revision + 1,
      }));
    },
  };
}

function startOf({ text = "", digest = "" }: SettingsFile): DraftState {
  return { text, digest, revision: 0, isBusy: false };
}

/** Maximum number of attempts to change a text that the user is typing. */
const MAX_EDITS = 10;

/** Lets the hub change one value of a text. If the user has typed meanwhile, changes the newer text. */
async function editedText(
  current: () => string,
  { value, ...edit }: { readonly file: string; readonly path: readonly string[]; readonly value: unknown },
): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const text = current();
    const body = { ...edit, text, ...(value !== undefined && { value }) };
    const changed = await call<{ readonly text: string }>("POST", "settings/edit", { body });
    if (current() === text || attempt === MAX_EDITS) return changed.text;
  }
}

/** Lets the hub check a text after each change. */
function useCheck(file: SettingsFile, text: string): SettingsCheck | undefined {
  const [check, setCheck] = useState<SettingsCheck>();
  const load = useCallback(
    async (signal: AbortSignal) => {
      try {
        const body = { file: file.path, text };
        setCheck(await call<SettingsCheck>("POST", "settings/check", { body, signal }));
      } catch (error) {
        if (error instanceof ApiError) setCheck({ problems: [error.message], isChanged: true });
      }
    },
    [file.path, file.digest, text],
  );
  useEffect(() => {
    const aborter = new AbortController();
    const timer = setTimeout(() => void load(aborter.signal), CHECK_AFTER_MS);
    return () => {
      clearTimeout(timer);
      aborter.abort();
    };
  }, [load]);
  return check;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
