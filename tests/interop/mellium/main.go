// Command mellium signs mellium.im/xmpp in by STARTTLS and SCRAM, and checks roster, ping, discovery and messages.
//
// Arguments: the server's address with its port, the domain, a file with the certificate, and for each of two users: name and password.
// It prints one line per check, and exits with 1 if one fails.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/xml"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"mellium.im/sasl"
	"mellium.im/xmlstream"
	"mellium.im/xmpp"
	"mellium.im/xmpp/disco"
	"mellium.im/xmpp/jid"
	"mellium.im/xmpp/ping"
	"mellium.im/xmpp/roster"
	"mellium.im/xmpp/stanza"
)

const patience = 10 * time.Second

var failures int

func check(name string, err error) bool {
	if err != nil {
		fmt.Printf("FAILED  %s: %v\n", name, err)
		failures++
		return false
	}
	fmt.Printf("ok      %s\n", name)
	return true
}

type body struct {
	stanza.Message
	Body string `xml:"body"`
}

// signIn negotiates a session, and passes the bodies of messages on.
func signIn(ctx context.Context, address, domain, user, password string, roots *x509.CertPool) (*xmpp.Session, chan string, error) {
	own := jid.MustParse(user + "@" + domain + "/mellium")
	connection, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		return nil, nil, err
	}
	session, err := xmpp.NewClientSession(ctx, own, connection,
		xmpp.StartTLS(&tls.Config{ServerName: domain, RootCAs: roots, MinVersion: tls.VersionTLS12}),
		xmpp.SASL("", password, sasl.ScramSha256Plus, sasl.ScramSha256),
		xmpp.BindResource(),
	)
	if err != nil {
		return nil, nil, err
	}
	bodies := make(chan string, 16)
	go func() {
		_ = session.Serve(xmpp.HandlerFunc(func(t xmlstream.TokenReadEncoder, start *xml.StartElement) error {
			if start.Name.Local != "message" {
				return nil
			}
			var message body
			err := xml.NewTokenDecoder(xmlstream.MultiReader(xmlstream.Token(*start), t)).Decode(&message)
			if err == nil && message.Body != "" {
				bodies <- message.Body
			}
			return nil
		}))
	}()
	return session, bodies, session.Send(ctx, stanza.Presence{Type: stanza.AvailablePresence}.Wrap(nil))
}

func send(ctx context.Context, session *xmpp.Session, to jid.JID, text string) error {
	payload := xmlstream.Wrap(xmlstream.Token(xml.CharData(text)), xml.StartElement{Name: xml.Name{Local: "body"}})
	return session.Send(ctx, stanza.Message{To: to, Type: stanza.ChatMessage}.Wrap(payload))
}

func receives(bodies chan string, wanted string) error {
	late := time.After(patience)
	for {
		select {
		case text := <-bodies:
			if text == wanted {
				return nil
			}
		case <-late:
			return fmt.Errorf("nothing came in time")
		}
	}
}

func main() {
	address, domain, certificate := os.Args[1], os.Args[2], os.Args[3]
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	roots := x509.NewCertPool()
	pem, err := os.ReadFile(certificate)
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		fmt.Println("cannot read the certificate:", err)
		os.Exit(2)
	}

	_, _, err = signIn(ctx, address, domain, os.Args[4], "a wrong password", roots)
	if err != nil && strings.Contains(err.Error(), "not-authorized") {
		err = nil
	} else {
		err = fmt.Errorf("the outcome is %v", err)
	}
	check("a wrong password is refused", err)
	anna, atAnna, err := signIn(ctx, address, domain, os.Args[4], os.Args[5], roots)
	if !check("sign in by STARTTLS and SCRAM", err) {
		os.Exit(1)
	}
	tom, atTom, err := signIn(ctx, address, domain, os.Args[6], os.Args[7], roots)
	if !check("sign in as another user", err) {
		os.Exit(1)
	}

	items := roster.Fetch(ctx, anna)
	count := 0
	for items.Next() {
		count++
	}
	err = items.Err()
	if err == nil && count == 0 {
		err = fmt.Errorf("it is empty")
	}
	check("the roster has items", err)
	_ = items.Close()
	server := jid.MustParse(domain)
	check("the domain answers a ping", ping.Send(ctx, anna, server))
	info, err := disco.GetInfo(ctx, "", server, anna)
	isServer := false
	for _, one := range info.Identity {
		isServer = isServer || one.Category == "server" && one.Type == "im"
	}
	if err == nil && !isServer {
		err = fmt.Errorf("it says %v", info.Identity)
	}
	check("the domain is an XMPP server", err)

	check("a message is sent", send(ctx, anna, tom.LocalAddr().Bare(), "Grüße & <b>"))
	check("it arrives unchanged", receives(atTom, "Grüße & <b>"))
	check("an answer is sent", send(ctx, tom, anna.LocalAddr().Bare(), "back"))
	check("it arrives", receives(atAnna, "back"))
	check("the streams end", anna.Close())
	_ = tom.Close()
	if failures > 0 {
		os.Exit(1)
	}
}
