import { useEffect, useRef, useState } from "preact/hooks";
import { Foreign } from "./parts.tsx";

/** Maximum length of a text that is formatted. A longer text is shown unformatted. */
const MAX_CHARS = 200_000;
const TAGS =
  "a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre s strong sub sup table tbody td th thead tr ul";

/** Shows Markdown of a server without images, styles, forms and scripts. Its libraries are loaded by the first text. */
export function Markdown({ text }: { readonly text: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [isRaw, setRaw] = useState(true);
  useEffect(() => {
    if (text.length > MAX_CHARS) return undefined;
    let isOld = false;
    void toFragment(text).then((fragment) => {
      if (isOld || !box.current) return;
      box.current.replaceChildren(fragment);
      setRaw(false);
    });
    return () => void (isOld = true);
  }, [text]);
  return (
    <>
      <div class="markdown" dir="auto" ref={box} hidden={isRaw} />
      {isRaw && (
        <pre tabindex={0} class="text">
          <Foreign text={text} />
        </pre>
      )}
    </>
  );
}

async function toFragment(text: string): Promise<DocumentFragment> {
  const [{ Marked }, { default: purify }] = await Promise.all([import("marked"), import("dompurify")]);
  // HTML in the text is shown as text. The page's Content Security Policy applies to parsed documents too, so that
  // markup with styles or handlers would be reported as a violation before it could be removed.
  const renderer = {
    html: ({ text: html }: { readonly text: string }) => escaped(html),
    image: ({ text: alternative }: { readonly text: string }) => escaped(alternative),
  };
  const html = await new Marked({ gfm: true, renderer }).parse(text);
  const fragment = purify.sanitize(html, {
    ALLOWED_TAGS: TAGS.split(" "),
    ALLOWED_ATTR: ["href", "title", "start"],
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll("a[href]")) {
    link.setAttribute("target", "_blank");
    link.setAttribute("rel", "noopener noreferrer");
  }
  return fragment;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
