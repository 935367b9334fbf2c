import { useEffect, useId, useRef, type ReactNode } from "react";
import { createPortal } from "react-dom";

import { Icon } from "./icon";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  className?: string;
}

/** The browser's own modal dialog: focus stays inside, Escape closes it, and what is behind is inert. */
export function Dialog({ title, onClose, children, className }: Props) {
  const shown = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = shown.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  // Outside of what opened it, so that it looks the same wherever that is.
  return createPortal(
    <dialog
      ref={shown}
      className={className}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === shown.current) onClose();
      }}
    >
      <div className="dialog-inside">
        <header>
          <h2 id={heading}>{title}</h2>
          <button type="button" className="quiet" onClick={onClose} aria-label="Close">
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>,
    document.body,
  );
}
