// Command vault is HashiCorp Vault for tests: its own core, HTTP API, key-value engine and AppRole login, without the
// hundreds of plugins of the whole program, which take three times as long to compile. In memory, unsealed, on loopback.
//
//	vault <host:port>
//
// Prints its address and the root token, and ends with its standard input.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/hashicorp/go-hclog"
	kv "github.com/hashicorp/vault-plugin-secrets-kv"
	"github.com/hashicorp/vault/builtin/credential/approle"
	vaulthttp "github.com/hashicorp/vault/http"
	"github.com/hashicorp/vault/internalshared/configutil"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/inmem"
	"github.com/hashicorp/vault/vault"
)

// What is compiled in, for the catalog of plugins.
type builtins map[consts.PluginType]map[string]logical.Factory

func (b builtins) Contains(name string, kind consts.PluginType) bool {
	_, ok := b[kind][name]
	return ok
}

func (b builtins) Get(name string, kind consts.PluginType) (func() (interface{}, error), bool) {
	factory, ok := b[kind][name]
	return func() (interface{}, error) { return factory, nil }, ok
}

func (b builtins) Keys(kind consts.PluginType) []string {
	var names []string
	for name := range b[kind] {
		names = append(names, name)
	}
	return names
}

func (b builtins) DeprecationStatus(name string, kind consts.PluginType) (consts.DeprecationStatus, bool) {
	return consts.Supported, b.Contains(name, kind)
}

func (b builtins) IsBuiltinEntPlugin(string, consts.PluginType) bool { return false }

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: vault <host:port>"))
	}
	core, token, err := start()
	if err != nil {
		fail(err)
	}
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		fail(err)
	}
	handler := vaulthttp.Handler.Handler(&vault.HandlerProperties{Core: core, ListenerConfig: &configutil.Listener{}})
	go func() { fail(http.Serve(listener, handler)) }()
	fmt.Printf("http://%s %s\n", listener.Addr(), token)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func start() (*vault.Core, string, error) {
	logger := hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Warn})
	store, err := inmem.NewInmem(nil, logger)
	if err != nil {
		return nil, "", err
	}
	engines := map[string]logical.Factory{"kv": kv.Factory}
	logins := map[string]logical.Factory{"approle": approle.Factory}
	core, err := vault.NewCore(&vault.CoreConfig{
		Physical:           store,
		LogicalBackends:    engines,
		CredentialBackends: logins,
		BuiltinRegistry:    builtins{consts.PluginTypeSecrets: engines, consts.PluginTypeCredential: logins},
		DisableMlock:       true,
		Logger:             logger,
	})
	if err != nil {
		return nil, "", err
	}
	config := &vault.SealConfig{SecretShares: 1, SecretThreshold: 1}
	made, err := core.Initialize(context.Background(), &vault.InitParams{BarrierConfig: config, RecoveryConfig: config})
	if err != nil {
		return nil, "", err
	}
	if _, err := core.Unseal(made.SecretShares[0]); err != nil {
		return nil, "", err
	}
	return core, made.RootToken, nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "vault:", err)
	os.Exit(1)
}
