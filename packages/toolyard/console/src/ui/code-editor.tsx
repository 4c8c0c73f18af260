import type { EditorView } from "codemirror";
import { useEffect, useRef, useState } from "preact/hooks";
import type { EditorLanguage } from "./code-mirror.ts";

export interface CodeEditorProps {
  readonly label: string;
  readonly text: string;
  readonly language: EditorLanguage;
  readonly isReadOnly?: boolean;
  /**
   * Number that the owner of the text changes when it replaces the text. While the number is the same, the editor has
   * the newest text: an older one, which is still being rendered, must not replace it.
   */
  readonly revision: number;
  readonly onText: (text: string) => void;
}

/** Shows an editor for a text. Until the editor's code is loaded, or if that fails, shows a plain text field. */
export function CodeEditor({ label, text, language, isReadOnly = false, revision, onText }: CodeEditorProps) {
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | undefined>(undefined);
  const [replace, setReplace] = useState<(editor: EditorView, text: string) => void>();
  const latest = useRef({ text, onText });
  latest.current = { text, onText };
  useEffect(() => {
    let isOld = false;
    void import("./code-mirror.ts").then(({ openFileEditor, replaceText }) => {
      if (isOld || !box.current) return;
      const options = { parent: box.current, label, text: latest.current.text, language, isReadOnly };
      editor.current = openFileEditor({ ...options, onText: (changed) => latest.current.onText(changed) });
      setReplace(() => replaceText);
    });
    return () => {
      isOld = true;
      editor.current?.destroy();
      editor.current = undefined;
    };
  }, [label, language, isReadOnly]);
  useEffect(() => {
    if (editor.current && replace) replace(editor.current, latest.current.text);
  }, [revision, replace]);
  return (
    <>
      <div class="code-editor" ref={box} hidden={!replace} />
      {!replace && (
        <textarea
          class="code code-editor"
          dir="ltr"
          aria-label={label}
          readOnly={isReadOnly}
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      )}
    </>
  );
}
