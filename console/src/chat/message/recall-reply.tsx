/** A reply without a model: what is remembered, as cards, made of the receipt of the reply. */

import { useEffect, useRef, useState } from "react";

import { getReceipt, receiptIdOf } from "../../api/receipts";
import { useAnswer } from "../../parts/use-answer";
import { Card } from "../drawer/card";
import type { Said } from "../talk/said";
import { Words } from "../words/markdown";
import { inPieces } from "../words/recalled-text";

/** Whether a reply quotes what is remembered instead of a model's words. */
export function isRecallReply(message: Said): boolean {
  const pieces = inPieces(message.text);
  return pieces[0]?.kind === "label" && pieces.some((piece) => piece.kind === "recalled");
}

/** The quotation as text until the cards are there, and where they cannot be had. */
export function RecallReply({ message, session }: { message: Said; session: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!place.current) return;
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setSeen(true), { rootMargin: "400px" });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  const receipt = useAnswer(isSeen && message.id ? receiptIdOf(message.id) : null, getReceipt);
  // As the badge counts them: what is pinned has no strength, and is quoted too.
  const items = receipt.answer?.items ?? [];
  const label = inPieces(message.text)[0];
  return (
    <div ref={place}>
      {items.length === 0 ? (
        <Words text={message.text} scope={message.key} />
      ) : (
        <div className="words">
          <p className="label-note">{label?.kind === "label" ? label.text : ""}</p>
          <ul className="recalled-cards" aria-label="What is remembered">
            {items.map((item) => <Card key={item.id} item={item} session={session} onChanged={receipt.again} />)}
          </ul>
          {receipt.answer?.summary.map((line) => <p key={line} className="hint">{line}.</p>)}
        </div>
      )}
    </div>
  );
}
