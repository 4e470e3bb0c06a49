// The address that the member types into an app, and its QR code.

import { useState } from 'preact/hooks';
import { useMedia } from '../../ui/use_media/use_media.ts';
import { useWords } from '../../wording/late_words.ts';
import { CopyText } from './copy_text.tsx';
import { QrCode } from './qr_code.tsx';
import { xmppUri } from './xmpp_uri.ts';

/** On a smaller screen, the member is probably on the phone that would scan the code. */
const WIDE = '(min-width: 640px)';

export function AppAddress({ address }: { address: string }) {
  const words = useWords('appPasswords');
  const isWide = useMedia(WIDE);
  const [chosen, setChosen] = useState<boolean>();
  const isShown = chosen ?? isWide;
  return (
    <section class="app-part" aria-labelledby="app-address">
      <h3 class="app-title" id="app-address">
        {words.address}
      </h3>
      <CopyText text={address} copy={words.addressCopy} copied={words.addressCopied} />
      <p class="sheet-hint">{words.addressHint}</p>
      <button
        type="button"
        class="button app-button"
        aria-expanded={isShown}
        onClick={() => setChosen(!isShown)}
      >
        {isShown ? words.qrHide : words.qrShow}
      </button>
      {isShown && (
        <>
          <QrCode text={xmppUri(address)} label={words.qrLabel} />
          <p class="sheet-hint">{words.qrHint}</p>
        </>
      )}
    </section>
  );
}
