package hdfsfs

import (
	"context"
	"path"

	"google.golang.org/protobuf/proto"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// LocateHooked is Locate, with after called after each look-up of its.
func (d *Driver) LocateHooked(ctx context.Context, after func(method string), id fs.FileID, names ...string) (place fs.Place, err error) {
	dir := path.Dir(names[0])
	err = d.change(ctx, "locate", dir, func(s *session) error {
		own := s.x
		s.x = hooked{own, after}
		defer func() { s.x = own }()
		place, err = s.locate(ctx, id, dir, names)
		return err
	})
	return place, err
}

// hooked is a connection after whose calls something happens.
type hooked struct {
	executor
	after func(method string)
}

func (h hooked) Execute(method string, req, resp proto.Message) error {
	err := h.executor.Execute(method, req, resp)
	h.after(method)
	return err
}
