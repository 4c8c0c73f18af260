import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const SPARE_ROWS = 10;

export interface VirtualListProps {
  readonly count: number;
  readonly rowHeight: number;
  readonly label: string;
  readonly row: (index: number) => ComponentChildren;
  /** Called with the range of visible rows, so that their data can be loaded. */
  readonly onRange?: (first: number, last: number) => void;
}

/** Shows a list of rows of equal height. Only the visible rows are in the document. */
export function VirtualList({ count, rowHeight, label, row, onRange }: VirtualListProps) {
  const box = useRef<HTMLDivElement>(null);
  const [{ top, height }, setPlace] = useState({ top: 0, height: 800 });
  const first = Math.max(0, Math.floor(top / rowHeight) - SPARE_ROWS);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + SPARE_ROWS);
  useEffect(() => {
    const element = box.current!;
    const read = (): void => setPlace({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(read);
    observer.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    read();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, []);
  useEffect(() => onRange?.(first, last), [first, last, count]);
  return (
    <div class="virtual" ref={box} role="list" aria-label={label} tabindex={0}>
      <div class="virtual-space" style={{ height: `${count * rowHeight}px` }}>
        {Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at).map((index) => (
          <div
            key={index}
            role="listitem"
            aria-setsize={count}
            aria-posinset={index + 1}
            class="virtual-row"
            style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  );
}
