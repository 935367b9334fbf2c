import { useEffect, useEffectEvent, useImperativeHandle, useRef, useState, type KeyboardEvent, type Ref } from "react";

import { sentence } from "../../api/client";
import { Icon } from "../../parts/icon";
import { toast } from "../../parts/toasts";
import { count } from "../../words";
import { useDraft } from "./drafts";
import { isPicture, readFile, Unreadable, type Attached } from "./files";
import { MOST_IMAGES, readImage } from "./images";
import { sendsWithEnter } from "./keys";

/** What others may have the composer do. */
export interface Attaching {
  attach: (files: readonly File[]) => void;
}

interface Props {
  ref?: Ref<Attaching>;
  session: string;
  busy: boolean;
  disabled: boolean;
  /** Whether the model of this conversation does. */
  takesImages?: boolean;
  /** Returns what was attached and could not be stored or sent. */
  onSend: (text: string, files: readonly Attached[]) => Promise<readonly Attached[]>;
  onStop: () => void;
  onEditLast: () => void;
}

const LONGEST = 65_536;
const TEXTS = ".txt,.md,.csv,.json,.log,.py,.js,.ts,.html,.css,.xml,.yaml,.yml,.toml,.sql,.pdf,text/*,application/pdf";
const IMAGES = "image/png,image/jpeg,image/webp,image/gif";

/** Enter sends, Shift+Enter begins a line, Escape stops, and the up arrow in an empty field edits the last message. */
export function Composer({ ref, session, busy, disabled, takesImages = false, onSend, onStop, onEditLast }: Props) {
  const [text, setText] = useDraft(session);
  const [files, showFiles] = useState<readonly Attached[]>([]);
  /** Those of `files`, also before they are shown: images of two pastes are counted together. */
  const attached = useRef<readonly Attached[]>([]);
  const [reading, setReading] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  /** Somebody wanted to send while a file was still being read. */
  const waits = useRef(false);

  useEffect(() => {
    field.current?.focus({ preventScroll: true });
  }, []);

  const setFiles = (change: (before: readonly Attached[]) => readonly Attached[]) => {
    attached.current = change(attached.current);
    showFiles(attached.current);
  };
  const words = text.trim();
  const tooMany = words.length - LONGEST;
  const send = () => {
    if (!words || tooMany > 0 || busy || disabled) return;
    if (reading > 0) {
      waits.current = true;
      return;
    }
    waits.current = false;
    setText("");
    setFiles(() => []);
    void onSend(words, files).then((left) => {
      if (left.length > 0) setFiles((since) => [...left, ...since]);
    });
  };
  const sendWhatWaited = useEffectEvent(() => {
    if (waits.current) send();
  });
  useEffect(() => {
    if (reading === 0) sendWhatWaited();
  }, [reading]);
  const attach = async (chosen: readonly File[]) => {
    setReading((before) => before + chosen.length);
    for (const file of chosen) {
      try {
        const isImage = takesImages && file.type.startsWith("image/");
        if (isImage) refuseOneTooMany(file, attached.current);
        const read = isImage ? await readImage(file) : await readFile(file);
        if (isImage) refuseOneTooMany(file, attached.current);
        setFiles((before) => [...before, read]);
      } catch (error) {
        toast(sentence(error), { seconds: 10 });
      }
      setReading((before) => before - 1);
    }
    field.current?.focus();
  };
  useImperativeHandle(ref, () => ({
    attach: (chosen) => {
      if (!disabled) void attach(chosen);
    },
  }));
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (sendsWithEnter(event)) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && busy) {
      event.stopPropagation();
      event.preventDefault();
      onStop();
    } else if (event.key === "ArrowUp" && text === "" && !busy) {
      event.preventDefault();
      onEditLast();
    }
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {(files.length > 0 || reading > 0) && (
        <ul className="attachments" aria-label="Attachments">
          {files.map((file, number) => (
            <li key={number} className="file-chip">
              <Icon name="file" />
              <bdi title={file.name}>{file.name}</bdi>
              <button type="button" className="quiet" aria-label={`Remove ${file.name}`} onClick={() => setFiles((before) => before.filter((each) => each !== file))}><Icon name="close" /></button>
            </li>
          ))}
          {reading > 0 && <li className="hint" role="status">Reading…</li>}
        </ul>
      )}
      {tooMany > 0 && (
        <p id="too-long" className="notice trouble" role="alert">
          This is {count(tooMany, "character")} too long to send: at most {LONGEST.toLocaleString()}. Shorten it, or attach it as a text file.
        </p>
      )}
      <div className="composer-field">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          accept={takesImages ? `${TEXTS},${IMAGES}` : TEXTS}
          aria-label="Files to attach"
          onChange={(event) => {
            void attach([...(event.target.files ?? [])]);
            event.target.value = "";
          }}
        />
        <button type="button" className="round plain" disabled={disabled} onClick={() => picker.current?.click()} aria-label="Attach a file" title={takesImages ? "Attach an image, a text or a PDF file" : "Attach a text or PDF file"}>
          <Icon name="clip" />
        </button>
        <div className="grow" data-text={`${text}\n`} dir="auto">
          <textarea
            ref={field}
            id="composer"
            aria-label="Message"
            placeholder="Message…"
            value={text}
            rows={1}
            dir="auto"
            aria-describedby={tooMany > 0 ? "too-long" : undefined}
            disabled={disabled}
            enterKeyHint="enter"
            onChange={(event) => setText(event.target.value)}
            onKeyDown={press}
            onPaste={(event) => {
              const pasted = [...event.clipboardData.files];
              // Word and Excel add a picture of the words that were copied.
              if (pasted.length === 0 || event.clipboardData.types.includes("text/plain")) return;
              event.preventDefault();
              void attach(pasted);
            }}
          />
        </div>
        {busy ? (
          <button type="button" className="round" onClick={onStop} aria-label="Stop" title="Stop (Esc)">
            <Icon name="stop" />
          </button>
        ) : (
          <button type="submit" className="round primary" disabled={!words || tooMany > 0 || disabled} aria-label="Send" title="Send">
            <Icon name="send" />
          </button>
        )}
      </div>
    </form>
  );
}

function refuseOneTooMany(file: File, attached: readonly Attached[]): void {
  if (attached.filter(isPicture).length >= MOST_IMAGES) throw new Unreadable(file.name, `is one too many: a message may have ${MOST_IMAGES} images.`);
}
